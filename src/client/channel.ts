/** A JSON-RPC message. */
export type Message = Readonly<Record<string, unknown>>;

/** Carries messages between a client and a server. */
export interface Channel {
  /** Called for every message of the server. Set before the first message is sent. */
  onmessage: (message: Message) => void;
  /** Called once if the server is gone. */
  onlost: (why: string) => void;
  /**
   * Sends a message. Rejects with a `ClientError` of kind `unreachable` if the server does not take it; if it answers
   * there, also if the answer breaks off.
   */
  send(message: Message): Promise<void>;
  /** The revision of the protocol that both sides have agreed on, once they have. */
  agreed(protocolVersion: string): void;
  /** Ends the connection. */
  close(): Promise<void>;
}

/** Parses a text as a JSON-RPC message; undefined if it is none. */
export function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
