/** What the server answers. It is declared where the server makes it. */
export type * from '../../src/server/console/model/api-types.ts';
