/** A type of the DOM that version 1 of the MCP SDK uses, and that Node's own types do not have. */
type HeadersInit = NonNullable<RequestInit['headers']>;
