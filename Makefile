# Thin names for the npm scripts, so that the usual targets work.
CMD ?= mcp-filesystem
IMAGE ?= ringfence

.PHONY: build run test docker-build

node_modules: package.json package-lock.json
	npm ci
	@touch node_modules

build: node_modules
	npm run --silent build

# make run CMD=mcp-filesystem serves config/mcp-filesystem.yaml
run: build
	exec node dist/bin.js serve --config config/$(CMD).yaml

test: node_modules
	npm test

docker-build:
	docker build --tag $(IMAGE) .
