# Builds with all dependencies, then ships what runs: dist/, the production dependencies and a config.
FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY console ./console
RUN npm run build && npm prune --omit=dev

FROM node:20-slim
LABEL io.modelcontextprotocol.server.name="io.github.ringfence/ringfence"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Serves /data. Mount your own config over it to name other roots or to allow less.
COPY config/docker.yaml /etc/ringfence/config.yaml
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 8091
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8091/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/bin.js"]
CMD ["serve", "--config", "/etc/ringfence/config.yaml"]
