import type { HttpError } from './sdk-response.ts';

/** The longest `initialize`: far more than a client has to say, but a session keeps it. */
export const MAX_INITIALIZE_BYTES = 64 * 1024;

/**
 * What to do where nobody knows whether a request was carried out: sending it again could append twice, for example.
 */
export const LOOK_FIRST = 'The request may have been carried out: look before you send it again.';

/** The errors that an endpoint answers with. */
export const NOT_FOR_THIS_TOKEN: HttpError = { status: 403, message: 'Forbidden: this token may not be used here' };
export const METHOD_NOT_ALLOWED: HttpError = {
  status: 405,
  message: 'Method not allowed',
  headers: { allow: 'GET, POST, DELETE' },
};
export const SESSION_REQUIRED: HttpError = {
  status: 400,
  message: 'Bad Request: the Mcp-Session-Id header is required',
};
export const SESSION_NOT_FOUND: HttpError = { status: 404, code: -32001, message: 'Session not found' };
export const NOT_ENDED_EVERYWHERE: HttpError = {
  status: 503,
  message: 'The session was ended by this replica, but the others cannot be told at the moment; try again later',
  headers: { 'retry-after': '5' },
};
export const NOT_PASSED_ON: HttpError = {
  status: 503,
  message: 'This answers a question of another replica, which cannot be reached at the moment; try again later',
  headers: { 'retry-after': '5' },
};
export const EVENT_NOT_KEPT: HttpError = {
  status: 400,
  message: `Bad Request: what followed this Last-Event-ID is not kept here. ${LOOK_FIRST}`,
};
export const INITIALIZE_TOO_LONG: HttpError = {
  status: 413,
  message: `Payload Too Large: initialize must not exceed ${MAX_INITIALIZE_BYTES} bytes`,
};
export const TOO_MANY_SESSIONS: HttpError = {
  status: 503,
  message: 'Too many sessions in use; try again later',
  headers: { 'retry-after': '30' },
};
