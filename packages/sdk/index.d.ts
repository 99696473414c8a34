// Written by `npm run declarations`: the types of the package, without those of its dependencies.
/// <reference lib="esnext.disposable" />

/** The operations of each area. */
export interface Areas {
  readonly profiles: {
    /**
     * Reads the account that owns the key.
     * Source: interface v1, "Endpoints", GET /me.
     */
    readonly me: (options?: CallOptions) => Promise<Profile>
    /**
     * Reads a profile by its id. Fails with `NotFound` or `UserUnavailable` where the caller can't see the user.
     * Source: interface v1, "Endpoints", GET /users/{id}.
     */
    readonly get: (id: string, options?: CallOptions) => Promise<Profile>
    /**
     * Reads a profile by its username. Fails with `NotFound` or `UserUnavailable` where the caller can't see the user.
     * Source: interface v1, "Endpoints", GET /users/by-username/{username}.
     */
    readonly find: (username: string, options?: CallOptions) => Promise<Profile>
    /**
     * Follows a user. Repeatable: the client sends the request again after an ambiguous failure. Assumed: a second follow changes
     * nothing.
     * Source: interface v1, "Endpoints", POST /users/{id}/follow.
     */
    readonly follow: (id: string, options?: CallOptions) => Promise<void>
  }
  readonly posts: {
    /**
     * Creates a post. Checkable: after an ambiguous failure the client reads the account's posts, after a pause and again at the
     * end of the `settleTime`. It sends the post again only if no listed post can be this one. The call fails with `OutcomeUnknown`
     * if the list doesn't decide that. It also fails with `OutcomeUnknown` after a timeout or a status of 504 or above, because the
     * service may still process the request.
     *
     * Limits: a service that finishes a failed request, or lists a new post, after the `settleTime` (default: 15 seconds) can
     * store two posts. If another client of the account creates an equal post during the call, or up to two seconds before it,
     * the call can return that post (up to four seconds, if stamps or dates have whole seconds). Until a post of this client showed that
     * `createdAt` follows the clock of `Date`, an equal post of the last 26 hours leaves the outcome unknown.
     *
     * Two calls of one client with equal text create two posts, one after the other. The wait of the second call for the first
     * doesn't count as `maxWait`. A post without media and text fails with `InvalidInput`, without a request.
     * Source: interface v1, "Endpoints", POST /posts.
     */
    readonly create: (post: NewPost, options?: CallOptions) => Promise<Post>
    /**
     * The account's posts as a stream. It fetches the next page while the program consumes the current one.
     * Source: interface v1, "Endpoints", GET /me/posts.
     */
    readonly list: (options?: ListOptions) => AsyncIterable<Post>
    /** The same list as a stream of pages, with the cursor after each page. */
    readonly pages: (options?: ListOptions) => AsyncIterable<{
      readonly data: ReadonlyArray<Post>
      readonly nextCursor: string | null
    }>
    /**
     * Comments on a post. Once: the client doesn't send the request again after an ambiguous failure, and the call fails with
     * `OutcomeUnknown`. An empty text fails with `InvalidInput`, without a request.
     * Source: interface v1, "Endpoints", POST /posts/{id}/comments.
     */
    readonly comment: (id: string, text: string, options?: CallOptions) => Promise<Comment>
    /**
     * Likes a post. Repeatable: the client sends the request again after an ambiguous failure. Assumed: a second like changes
     * nothing.
     * Source: interface v1, "Endpoints", POST /posts/{id}/like.
     */
    readonly like: (id: string, options?: CallOptions) => Promise<void>
  }
  readonly media: {
    /**
     * Uploads a file. Repeatable: the client sends the file again after an ambiguous failure. The service may then store a second file that
     * no post uses. An error of a stream rejects the call with that error. If the length of a stream isn't `size`, or if the content of a retry
     * has other bytes, the call fails with `InvalidInput`.
     * Source: interface v1, "Endpoints", POST /media.
     */
    readonly upload: (file: Upload, options?: CallOptions) => Promise<Media>
    /**
     * Uploads a file from the file system of Node, Bun or Deno. Repeatable, as `upload`. If the file is modified or replaced during the
     * upload, the call fails with `InvalidInput` for `path`.
     * Source: interface v1, "Endpoints", POST /media.
     */
    readonly uploadFile: (path: string, options?: {
      /** Receives the number of content bytes sent so far. Each attempt starts at zero. */
      readonly onProgress?: ((bytesSent: number) => void) | undefined
      /** The media type (default: derived from the extension of the file name, or `application/octet-stream`). */
      readonly contentType?: string | undefined
      /**
       * Ends the call or the list: it rejects with the reason of the signal. A write that is ended while it runs may have been carried out.
       */
      readonly signal?: AbortSignal | undefined
      /** The timeout of one attempt, including its response; for an upload, the longest time without progress. */
      readonly timeout?: DurationInput | undefined
      /** The longest time that the call waits for the key's allowance, over all attempts; 0 means no wait. */
      readonly maxWait?: DurationInput | undefined
      /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
      readonly retry?: false | RetryOptions | undefined
      /** Observes each attempt, such as for logs. The call waits for its Promise. */
      readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
    }) => Promise<Media>
  }
  readonly stories: {
    /**
     * Creates a story from any JSON object. Returns the JSON of the response, or `undefined` for an empty body, because the
     * document doesn't show the payload or the response. Once: the client doesn't send the request again after an ambiguous
     * failure, and the call fails with `OutcomeUnknown`.
     * Source: interface v1, "Endpoints", gaps.
     */
    readonly create: (story: Readonly<Record<string, unknown>>, options?: CallOptions) => Promise<unknown>
  }
  readonly store: {
    /**
     * Sets the stock of a product, in pieces. Repeatable: the client sends the request again after an ambiguous failure. A client
     * runs its calls for one product one after the other, so it sends the value of the last call last.
     *
     * Limits: a service that continues a request after a timeout, a lost connection, a 5xx or an interruption of the call can
     * store that older value last. The order doesn't include other clients. The wait for earlier calls doesn't count as `maxWait`.
     * Source: interface v1, "Endpoints", PATCH /store/products/{id}/stock.
     */
    readonly setStock: (id: string, stock: number, options?: CallOptions) => Promise<Product>
    /**
     * Ships an order. Checkable: the client sends the request again after an ambiguous failure. A conflict on the first attempt
     * fails with `Conflict`. A conflict after an ambiguous failure fails with `OutcomeUnknown` and `likely: "done"`: the order is
     * shipped, but perhaps with another carrier and tracking number. A client runs its calls for one order one after the other. A blank
     * carrier or tracking number fails with `InvalidInput`, without a request.
     * Source: interface v1, "Endpoints", POST /store/orders/{id}/ship.
     */
    readonly ship: (id: string, shipment: NewShipment, options?: CallOptions) => Promise<Order>
  }
  readonly chat: {
    /**
     * The account's conversations as a stream. It fetches the next page while the program consumes the current one.
     * Source: interface v1, "Endpoints", GET /conversations.
     */
    readonly list: (options?: ListOptions) => AsyncIterable<Conversation>
    /** The same list as a stream of pages, with the cursor after each page. */
    readonly pages: (options?: ListOptions) => AsyncIterable<{
      readonly data: ReadonlyArray<Conversation>
      readonly nextCursor: string | null
    }>
    /**
     * Sends a message. Once: the client doesn't send the request again after an ambiguous failure, and the call fails with
     * `OutcomeUnknown`. Fails with `InvalidInput`, without a request, for an empty text, and with `ChatNotAllowed` or `ChatBlocked`
     * where the recipient doesn't accept messages.
     * Source: interface v1, "Endpoints", POST /conversations/{id}/messages.
     */
    readonly send: (id: string, text: string, options?: CallOptions) => Promise<Message>
  }
}

/** One attempt of a call, after its end. Durations are in milliseconds. */
export interface Attempt {
  /** The failure of the attempt; undefined if it succeeded. */
  readonly failure: Failure | undefined
  /** The number of the attempt in its call, from 1. */
  readonly number: number
  /** The status of the response; undefined if there was none. */
  readonly status: number | undefined
  /** The operation's name, such as `createPost`. */
  readonly operation: string
  /**
   * From the first byte that was sent, or from the start of the connection, to the end of the response. Waits for a slot don't count. In milliseconds.
   */
  readonly duration: number
  /** The headers of the response, without the key. Empty if there was none. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The wait before the next attempt; undefined if no attempt follows. It is at least the `Retry-After` of the response. It doesn't include
   * the wait for a slot, which follows a 429 without `Retry-After`, nor the search for a post. In milliseconds.
   */
  readonly delay: number | undefined
}

/** No complete response within the timeout. Only reads and repeatable writes fail with it. Call again, or allow more time. */
export declare class AttemptTimeout extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "AttemptTimeout"
  /** In milliseconds. */
  readonly timeout: number
  /** The number of attempts of the call. */
  readonly attempts: number
}

/** Options of a call or a list. They override those of the client. */
export interface CallOptions {
  /**
   * Ends the call or the list: it rejects with the reason of the signal. A write that is ended while it runs may have been carried out.
   */
  readonly signal?: AbortSignal | undefined
  /** The timeout of one attempt, including its response; for an upload, the longest time without progress. */
  readonly timeout?: DurationInput | undefined
  /** The longest time that the call waits for the key's allowance, over all attempts; 0 means no wait. */
  readonly maxWait?: DurationInput | undefined
  /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
  readonly retry?: false | RetryOptions | undefined
  /** Observes each attempt, such as for logs. The call waits for its Promise. */
  readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
}

/** One side of the conversation blocked the other. Nothing was sent, unless `mayHaveHappened`. Do not repeat it. */
export declare class ChatBlocked extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "ChatBlocked"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "CHAT_BLOCKED"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/**
 * The recipient has not written to the account and does not follow it. Nothing was sent, unless `mayHaveHappened`. Wait until the
 * recipient does.
 */
export declare class ChatNotAllowed extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "ChatNotAllowed"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "CHAT_NOT_ALLOWED"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** The client was closed before it sent the request. Nothing changed, unless `mayHaveHappened`. Create a new client. */
export declare class ClientClosed extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "ClientClosed"
}

/** A comment. */
export interface Comment {
  readonly text?: string | undefined
}

/**
 * The request conflicts with the current state, such as a second shipment of an order. Nothing changed, unless `mayHaveHappened`. Read
 * the state.
 */
export declare class Conflict extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "Conflict"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 409
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "CONFLICT"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/**
 * The last attempt had no connection: unknown host, refused connection, untrusted certificate. Nothing changed, unless `mayHaveHappened`.
 * Check the base URL and the network.
 */
export declare class ConnectionFailed extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "ConnectionFailed"
  /** The number of attempts of the call. */
  readonly attempts: number
  /** The system's code, such as `ECONNREFUSED`. */
  readonly reason: string
}

/**
 * The connection broke after the client may have sent the request. Only reads and repeatable writes fail with it. Call again.
 */
export declare class ConnectionLost extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "ConnectionLost"
  /** The number of attempts of the call. */
  readonly attempts: number
  /** The system's code, such as `ECONNRESET`; `CLOSED` if the client's layer was released. */
  readonly reason: string
}

/** A conversation of the account. */
export interface Conversation {
  readonly id: string
}

/** Creates clients. */
export interface CreatePlaza {
  (options: Options): Plaza
  /**
   * Creates a client from the variables `PLAZA_BASE_URL` and `PLAZA_API_KEY` (both required), `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT`,
   * `PLAZA_RATE_WINDOW` and `PLAZA_ALLOW_INSECURE_HTTP`. An option overrides its variable. Throws `InvalidSettings`, which names the variable.
   */
  readonly fromEnv: (options?: EnvironmentOptions) => Plaza
}

/**
 * The service rejected a cursor, most likely because it expired. The items so far are valid. Read the list again from its beginning.
 */
export declare class CursorRejected extends PlazaError {
  private constructor()
  /** The error of the service. */
  readonly cause: Failure
  /** The name of the class. */
  readonly _tag: "CursorRejected"
  readonly operation: string
}

/** A list returned the same cursor twice, so it might never end. The items so far are valid. Read the list again. */
export declare class CursorRepeated extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "CursorRepeated"
  readonly operation: string
}

/**
 * Developer access of the account is suspended or revoked. Nothing changed, unless `mayHaveHappened`. Every call will fail: stop, and ask
 * the service.
 */
export declare class DeveloperAccessRevoked extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "DeveloperAccessRevoked"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "DEVELOPER_ACCESS_REVOKED"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** A duration: milliseconds, or a text such as `"30s"`, `"1h30m"` or `"2 minutes"`. */
export type DurationInput = string | number

/** The options of `createPlaza.fromEnv`. */
export interface EnvironmentOptions {
  /** Accepts plain `http` to another machine, which exposes the key to the network (default: false). */
  readonly allowInsecureHttp?: boolean | undefined
  /**
   * The timeout of one attempt, including its response; for an upload, the longest time without progress (default: 30 seconds).
   */
  readonly timeout?: DurationInput | undefined
  /**
   * Whether to stop retries during an outage (default: true). A client has 500 tokens. A retry after an ambiguous failure or a failed
   * connection takes 14, and a success returns one. Without tokens a call fails with its last failure at once. The requests of the
   * search for a post are free.
   */
  readonly retryBudget?: boolean | undefined
  /** The longest time that a call waits for the key's allowance, over all attempts; zero means no wait (default: 5 minutes). */
  readonly maxWait?: DurationInput | undefined
  /**
   * The longest time that the service needs to finish a failed request and to list a new post. The client searches for a post of
   * unknown outcome for this time (default: 15 seconds).
   */
  readonly settleTime?: DurationInput | undefined
  /** Requests in a window of the rate limit (default: 120). */
  readonly rateLimit?: number | undefined
  /** The length of that window (default: 60 seconds). */
  readonly rateWindow?: DurationInput | undefined
  /** Whether to send trace headers to the service, which is a third party (default: false). */
  readonly propagateTrace?: boolean | undefined
  /** The maximum length of a response body in bytes (default: 16 MiB). */
  readonly maxResponseBytes?: number | undefined
  /** The name and version of the application for `User-Agent`, such as `stock-robot/1.2` (default: none). */
  readonly application?: string | undefined
  /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
  readonly retry?: false | RetryOptions | undefined
  /** Observes each attempt, such as for logs. The call waits for its Promise. */
  readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
  /**
   * Sends every request (default: the HTTP of Node in Node, otherwise the `fetch` of the runtime). Excludes the options of Node.
   */
  readonly fetch?: (typeof globalThis.fetch) | undefined
  /** Node only: the address of the proxy, or false for none (default: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`). */
  readonly proxy?: string | false | undefined
  /** Node only: PEM certificates to trust in addition to those of Node (default: none). */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** Node only: how long to keep an idle connection (default: 4 seconds). */
  readonly keepAlive?: DurationInput | undefined
  /** Node only: the timeout for opening a connection (default: 10 seconds). */
  readonly connectTimeout?: DurationInput | undefined
  /** Receives the log of the client from level `Info` on (default: warnings and errors go to standard error). */
  readonly logger?: ((entry: LogEntry) => void) | undefined
}

/** Every error of this package. */
export type Failure = AttemptTimeout | ChatBlocked | ChatNotAllowed | ClientClosed | Conflict | ConnectionFailed | ConnectionLost | CursorRejected | CursorRepeated | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidJson | InvalidApiKey | InsufficientScope | ProfileIncomplete | StoreBlocked | UserUnavailable | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown | UnreadableItem | Inconclusive | InvalidSettings | PlatformError

/** The errors that each operation can reject with, such as `Failures["store"]["ship"]`. */
export interface Failures {
  readonly profiles: {
    readonly me: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | Forbidden | RateLimited | InvalidApiKey | InsufficientScope | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded
    readonly get: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidApiKey | InsufficientScope | UserUnavailable | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded
    readonly find: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidApiKey | InsufficientScope | UserUnavailable | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded
    readonly follow: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidApiKey | InsufficientScope | ProfileIncomplete | UserUnavailable | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
  }
  readonly posts: {
    readonly create: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidJson | InvalidApiKey | InsufficientScope | ProfileIncomplete | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
    readonly list: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | CursorRejected | CursorRepeated | DeveloperAccessRevoked | ValidationError | Forbidden | RateLimited | InvalidApiKey | InsufficientScope | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | UnreadableItem
    readonly pages: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | CursorRejected | CursorRepeated | DeveloperAccessRevoked | ValidationError | Forbidden | RateLimited | InvalidApiKey | InsufficientScope | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | UnreadableItem
    readonly comment: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidJson | InvalidApiKey | InsufficientScope | ProfileIncomplete | UserUnavailable | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
    readonly like: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidApiKey | InsufficientScope | ProfileIncomplete | UserUnavailable | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
  }
  readonly media: {
    readonly upload: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | RateLimited | InvalidApiKey | InsufficientScope | ProfileIncomplete | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
    readonly uploadFile: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | RateLimited | InvalidApiKey | InsufficientScope | ProfileIncomplete | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown | PlatformError
  }
  readonly stories: {
    readonly create: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidJson | InvalidApiKey | InsufficientScope | ProfileIncomplete | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
  }
  readonly store: {
    readonly setStock: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidJson | InvalidApiKey | InsufficientScope | ProfileIncomplete | StoreBlocked | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
    readonly ship: AttemptTimeout | ClientClosed | Conflict | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidJson | InvalidApiKey | InsufficientScope | ProfileIncomplete | StoreBlocked | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
  }
  readonly chat: {
    readonly list: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | CursorRejected | CursorRepeated | DeveloperAccessRevoked | ValidationError | Forbidden | RateLimited | InvalidApiKey | InsufficientScope | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | UnreadableItem
    readonly pages: AttemptTimeout | ClientClosed | ConnectionFailed | ConnectionLost | CursorRejected | CursorRepeated | DeveloperAccessRevoked | ValidationError | Forbidden | RateLimited | InvalidApiKey | InsufficientScope | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | UnreadableItem
    readonly send: AttemptTimeout | ChatBlocked | ChatNotAllowed | ClientClosed | ConnectionFailed | ConnectionLost | DeveloperAccessRevoked | ValidationError | Forbidden | NotFound | RateLimited | InvalidJson | InvalidApiKey | InsufficientScope | ProfileIncomplete | UserUnavailable | PayloadTooLarge | InternalError | UnrecognizedError | InvalidInput | UnreadableSuccess | RateLimitWaitExceeded | OutcomeUnknown
  }
}

/** The action is not allowed for this account. Nothing changed, unless `mayHaveHappened`. Do not repeat it. */
export declare class Forbidden extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "Forbidden"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "FORBIDDEN"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** The list of posts does not show whether a post was created. Only the `cause` of an `OutcomeUnknown`. */
export declare class Inconclusive extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "Inconclusive"
}

/** The key lacks the scope of the endpoint. Nothing changed, unless `mayHaveHappened`. Use a key with that scope. */
export declare class InsufficientScope extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "InsufficientScope"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "INSUFFICIENT_SCOPE"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** A fault of the service. Only reads and repeatable writes fail with it. Call again later. */
export declare class InternalError extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "InternalError"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 500
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "INTERNAL_ERROR"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/**
 * The key is missing, malformed or revoked. Nothing changed, unless `mayHaveHappened`. Every call will fail: stop, and set a valid key.
 */
export declare class InvalidApiKey extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "InvalidApiKey"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 401
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "INVALID_API_KEY"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** An argument is invalid; `field` names it. Nothing was sent, unless `mayHaveHappened`. Correct the argument. */
export declare class InvalidInput extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "InvalidInput"
  /** The invalid part, such as `text`, `id` or `mediaIds.0`; empty for the whole input. */
  readonly field: string
}

/**
 * The service could not parse the body. Nothing changed, unless `mayHaveHappened`. Report it to us: this package sends valid JSON.
 */
export declare class InvalidJson extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "InvalidJson"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 400
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "INVALID_JSON"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** An option or a variable is invalid; `setting` names it. Nothing was sent. Correct it. */
export declare class InvalidSettings extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "InvalidSettings"
  /** The option's name, such as `baseUrl`. */
  readonly setting: string
}

/** Options of a list. */
export interface ListOptions {
  /** The maximum number of items in total (default: all). */
  readonly limit?: number | undefined
  /** Items per request, 1 to 100 (default: 100). */
  readonly pageSize?: number | undefined
  /**
   * The `nextCursor` of the page before the first page to read (default: none, to read from the first page). Cursors expire: the
   * list fails with `CursorRejected` if the service no longer accepts the cursor.
   * Source: interface v1, "List behaviour", rules 3 and 6.
   */
  readonly cursor?: string | undefined
  /**
   * Ends the call or the list: it rejects with the reason of the signal. A write that is ended while it runs may have been carried out.
   */
  readonly signal?: AbortSignal | undefined
  /** The timeout of one attempt, including its response; for an upload, the longest time without progress. */
  readonly timeout?: DurationInput | undefined
  /** The longest time that the call waits for the key's allowance, over all attempts; 0 means no wait. */
  readonly maxWait?: DurationInput | undefined
  /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
  readonly retry?: false | RetryOptions | undefined
  /** Observes each attempt, such as for logs. The call waits for its Promise. */
  readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
}

/** A line of the client's log. */
export interface LogEntry {
  readonly level: string
  /** The name of the event, such as `rate_limit.operation_paused`. */
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** An uploaded file. A post refers to it by `mediaId`. */
export interface Media {
  readonly mediaId: string
}

/** A chat message. */
export interface Message {
  readonly text?: string | undefined
}

/** The body of a new post. */
export interface NewPost {
  readonly text?: string | undefined
  readonly mediaIds?: ReadonlyArray<string> | undefined
}

/** A shipment of an order. */
export interface NewShipment {
  readonly carrier: string
  readonly trackingNumber: string
}

/** The resource does not exist or is not visible to the account. Nothing changed, unless `mayHaveHappened`. Check the id. */
export declare class NotFound extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "NotFound"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 404
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "NOT_FOUND"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** A list at an undocumented endpoint. */
export interface OpenList<A> {
  /**
   * The `nextCursor` of the page before the first page to read (default: none, to read from the first page). Cursors expire: the
   * list fails with `CursorRejected` if the service no longer accepts the cursor.
   * Source: interface v1, "List behaviour", rules 3 and 6.
   */
  readonly cursor?: string | undefined
  /** The maximum number of items in total (default: all). */
  readonly limit?: number | undefined
  /** Items per request, 1 to 100 (default: 100). */
  readonly pageSize?: number | undefined
  /** Relative to the base URL, with a leading slash and percent-encoded ids. */
  readonly path: string
  /** The query parameters in addition to `limit` and `cursor`. */
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Validates the JSON of a response or of an item, such as `schema.parse` of a library (default: no validation). It throws if it can't.
   */
  readonly parse?: ((json: unknown) => A) | undefined
  /**
   * Ends the call or the list: it rejects with the reason of the signal. A write that is ended while it runs may have been carried out.
   */
  readonly signal?: AbortSignal | undefined
  /** The timeout of one attempt, including its response; for an upload, the longest time without progress. */
  readonly timeout?: DurationInput | undefined
  /** The longest time that the call waits for the key's allowance, over all attempts; 0 means no wait. */
  readonly maxWait?: DurationInput | undefined
  /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
  readonly retry?: false | RetryOptions | undefined
  /** Observes each attempt, such as for logs. The call waits for its Promise. */
  readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
}

/** A request to an undocumented endpoint. */
export interface OpenRequest<A> {
  /** What the client does after an ambiguous failure (default: `Read` for GET, `Once` for other methods). */
  readonly delivery?: "Read" | "Repeatable" | "Once" | undefined
  /** Relative to the base URL, with a leading slash and percent-encoded ids. */
  readonly path: string
  /** The query parameters. One that is `undefined` is not sent. */
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | "HEAD" | "OPTIONS"
  /** The body, which is sent as JSON (default: no body). */
  readonly payload?: unknown
  /**
   * Validates the JSON of a response or of an item, such as `schema.parse` of a library (default: no validation). It throws if it can't.
   */
  readonly parse?: ((json: unknown) => A) | undefined
  /**
   * Ends the call or the list: it rejects with the reason of the signal. A write that is ended while it runs may have been carried out.
   */
  readonly signal?: AbortSignal | undefined
  /** The timeout of one attempt, including its response; for an upload, the longest time without progress. */
  readonly timeout?: DurationInput | undefined
  /** The longest time that the call waits for the key's allowance, over all attempts; 0 means no wait. */
  readonly maxWait?: DurationInput | undefined
  /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
  readonly retry?: false | RetryOptions | undefined
  /** Observes each attempt, such as for logs. The call waits for its Promise. */
  readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
}

/** The options of {@link createPlaza }. A duration is in milliseconds or a text such as `"30s"`. */
export interface Options {
  /** The base URL, which ends with `/open/v1`. Plain `http` is accepted for a loopback host only. */
  readonly baseUrl: string
  /** Accepts plain `http` to another machine, which exposes the key to the network (default: false). */
  readonly allowInsecureHttp?: boolean | undefined
  /** The API key: printable ASCII without spaces. The service decides whether it is valid. */
  readonly apiKey: string
  /**
   * The timeout of one attempt, including its response; for an upload, the longest time without progress (default: 30 seconds).
   */
  readonly timeout?: DurationInput | undefined
  /**
   * Whether to stop retries during an outage (default: true). A client has 500 tokens. A retry after an ambiguous failure or a failed
   * connection takes 14, and a success returns one. Without tokens a call fails with its last failure at once. The requests of the
   * search for a post are free.
   */
  readonly retryBudget?: boolean | undefined
  /** The longest time that a call waits for the key's allowance, over all attempts; zero means no wait (default: 5 minutes). */
  readonly maxWait?: DurationInput | undefined
  /**
   * The longest time that the service needs to finish a failed request and to list a new post. The client searches for a post of
   * unknown outcome for this time (default: 15 seconds).
   */
  readonly settleTime?: DurationInput | undefined
  /** Requests in a window of the rate limit (default: 120). */
  readonly rateLimit?: number | undefined
  /** The length of that window (default: 60 seconds). */
  readonly rateWindow?: DurationInput | undefined
  /** Whether to send trace headers to the service, which is a third party (default: false). */
  readonly propagateTrace?: boolean | undefined
  /** The maximum length of a response body in bytes (default: 16 MiB). */
  readonly maxResponseBytes?: number | undefined
  /** The name and version of the application for `User-Agent`, such as `stock-robot/1.2` (default: none). */
  readonly application?: string | undefined
  /** When to retry; false means no retries, except after a 429. It replaces the whole option of the client. */
  readonly retry?: false | RetryOptions | undefined
  /** Observes each attempt, such as for logs. The call waits for its Promise. */
  readonly onAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined
  /**
   * Sends every request (default: the HTTP of Node in Node, otherwise the `fetch` of the runtime). Excludes the options of Node.
   */
  readonly fetch?: (typeof globalThis.fetch) | undefined
  /** Node only: the address of the proxy, or false for none (default: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`). */
  readonly proxy?: string | false | undefined
  /** Node only: PEM certificates to trust in addition to those of Node (default: none). */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** Node only: how long to keep an idle connection (default: 4 seconds). */
  readonly keepAlive?: DurationInput | undefined
  /** Node only: the timeout for opening a connection (default: 10 seconds). */
  readonly connectTimeout?: DurationInput | undefined
  /** Receives the log of the client from level `Info` on (default: warnings and errors go to standard error). */
  readonly logger?: ((entry: LogEntry) => void) | undefined
}

/** An order. A shipped order has a carrier and a tracking number. */
export interface Order {
  readonly id: string
  readonly carrier?: string | undefined
  readonly trackingNumber?: string | undefined
}

/** The service may or may not have carried out the write. Check the result before you repeat it. */
export declare class OutcomeUnknown extends PlazaError {
  private constructor()
  /** Why the outcome is unknown. */
  readonly cause: Failure
  /** The name of the class. */
  readonly _tag: "OutcomeUnknown"
  /** The number of attempts of the call. */
  readonly attempts: number
  readonly operation: string
  /**
   * `"done"` if the last response shows that the write happened, but perhaps not by this call: an order is shipped, perhaps with
   * another carrier and tracking number.
   */
  readonly likely?: "done" | undefined
}

/** The body or the file is too large. Nothing was stored, unless `mayHaveHappened`. Send a smaller one. */
export declare class PayloadTooLarge extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "PayloadTooLarge"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 413
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "PAYLOAD_TOO_LARGE"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** Pieces of content, such as a web stream or a stream of Node. */
export type Pieces = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** A file can't be read; `code` is that of the system, such as `ENOENT`. Check the path. */
export declare class PlatformError extends PlazaError {
  private constructor()
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: string | undefined
  readonly path: string | undefined
  /** The name of the class. */
  readonly _tag: "PlatformError"
}

/** A client. Every call rejects with an error of this package, or with the reason of its `signal`. */
export interface Plaza extends Areas {
  /** Sends a request to an undocumented endpoint, with the key, the rate limit and the delivery rules of documented ones. */
  readonly request: <A = unknown>(request: OpenRequest<A>) => Promise<A>
  /** Reads an undocumented list that follows the documented list behaviour. */
  readonly paginate: <A = unknown>(list: OpenList<A>) => AsyncIterable<A>
  readonly rateLimit: {
    /** The free slots of the key's allowance, the requests in flight, the waiting calls, and the pauses. */
    readonly status: () => Promise<{
      /** The number of requests that can be sent now. */
      readonly free: number
      /** The number of requests without a response, in all processes that share the allowance. */
      readonly inFlight: number
      /** The number of requests of this process that wait for a slot, or for the end of their operation's pause. */
      readonly waiting: number
      /** The end of the key's pause; undefined if the key is not paused. */
      readonly pausedUntil: Date | undefined
      /** Operations with an exhausted quota. */
      readonly pausedOperations: ReadonlyArray<{
        readonly operation: string
        readonly until: Date
      }>
    }>
  }
  /**
   * Closes the connections. Calls that wait reject with `ClientClosed`, those in flight with `ConnectionLost` or `OutcomeUnknown`. A program
   * ends without it. `await using` closes a client at the end of its block.
   */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * What every error of this package has. Use `isPlazaError` to narrow a caught value, and `_tag`, which is the name of the class, or
 * `category` to decide what to do. `message` is a sentence for people and may change.
 */
export declare abstract class PlazaError extends Error {
  protected constructor()
  /** The name of the class. */
  readonly _tag: string
  /**
   * Why the call failed: the general meaning of the status, also for codes that the document doesn't list. Check `mayHaveHappened` first.
   */
  readonly category: "InvalidRequest" | "Unauthenticated" | "Forbidden" | "NotFound" | "Conflict" | "TooLarge" | "RateLimited" | "ServiceFault"
  /**
   * Whether the service may have carried out the call all the same. Then check the result before you repeat a write. It is false if the
   * client sent nothing, if the service refused every attempt, and for reads.
   */
  readonly mayHaveHappened: boolean
  /** The status of the response that the call failed with, if it did. */
  readonly status?: number | undefined
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code?: string | undefined
  /** How long to wait before the next call, if that is known. In milliseconds. */
  readonly retryAfter?: number | undefined
  /** The fields and the message, for logs. */
  readonly toJSON: () => object
}

/** A post of the account. */
export interface Post {
  readonly id: string
  readonly text?: string | undefined
  readonly mediaIds?: ReadonlyArray<string> | undefined
  readonly createdAt?: Date | undefined
}

/** A product of the account's store. */
export interface Product {
  readonly id: string
  readonly stock?: number | undefined
}

/** A profile. The document does not show which fields are always present. */
export interface Profile {
  readonly id?: string | undefined
  readonly username?: string | undefined
}

/**
 * The account has no profile photo or no cover, which writes require. Nothing changed, unless `mayHaveHappened`. Complete the profile.
 */
export declare class ProfileIncomplete extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "ProfileIncomplete"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "PROFILE_INCOMPLETE"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/**
 * The wait for the key's allowance would exceed `maxWait`. Nothing changed, unless `mayHaveHappened`. Call again after `retryAt`.
 */
export declare class RateLimitWaitExceeded extends PlazaError {
  private constructor()
  /** The time until `retryAt`. In milliseconds. */
  readonly retryAfter: number
  /** The name of the class. */
  readonly _tag: "RateLimitWaitExceeded"
  /** The earliest time of a useful retry. */
  readonly retryAt: Date
}

/**
 * The service accepts no request now, or a daily quota is exhausted. Nothing changed, unless `mayHaveHappened`. Call again after
 * `retryAfter`.
 */
export declare class RateLimited extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "RateLimited"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 429
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "RATE_LIMITED"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** When to repeat an attempt, if the delivery rules allow it. They decide whether a repetition is safe; this decides when. */
export interface RetryOptions {
  /** The maximum number of retries (default: 4). */
  readonly times?: number | undefined
  /** The delay before the first retry, which doubles with each further one, with jitter (default: 250 milliseconds). */
  readonly delay?: DurationInput | undefined
  /** The time after which no retry starts (default: 2 minutes). */
  readonly within?: DurationInput | undefined
}

/** The store blocked the account. Nothing changed, unless `mayHaveHappened`. Do not repeat it. */
export declare class StoreBlocked extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "StoreBlocked"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "STORE_BLOCKED"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** How requests are sent. */
export interface TransportOptions {
  /**
   * Sends every request (default: the HTTP of Node in Node, otherwise the `fetch` of the runtime). Excludes the options of Node.
   */
  readonly fetch?: (typeof globalThis.fetch) | undefined
  /** Node only: the address of the proxy, or false for none (default: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`). */
  readonly proxy?: string | false | undefined
  /** Node only: PEM certificates to trust in addition to those of Node (default: none). */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** Node only: how long to keep an idle connection (default: 4 seconds). */
  readonly keepAlive?: DurationInput | undefined
  /** Node only: the timeout for opening a connection (default: 10 seconds). */
  readonly connectTimeout?: DurationInput | undefined
}

/** An item of a list can't be decoded. The items before it are valid. Continue from `nextCursor`. */
export declare class UnreadableItem extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "UnreadableItem"
  readonly operation: string
  /** The cursor of the item's page; undefined for the first page. */
  readonly cursor: string | undefined
  /** The cursor of the next page, to continue from; null on the last page. */
  readonly nextCursor: string | null
  /** The number of the item's page, from 1. */
  readonly page: number
  /** The item's position on its page, from 1. */
  readonly position: number
}

/** The service accepted the write, but its response can't be read. It most likely happened: check before you repeat it. */
export declare class UnreadableSuccess extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "UnreadableSuccess"
  /** The status of the response that the call failed with, if it did. */
  readonly status: number
  /** The number of attempts of the call. */
  readonly attempts: number
  readonly operation: string
  /** The beginning of the body. */
  readonly body: string
}

/**
 * A response that the document does not describe: a new code, or a page of a proxy. Decide by `mayHaveHappened` and `category`.
 */
export declare class UnrecognizedError extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "UnrecognizedError"
  /** The status of the response that the call failed with, if it did. */
  readonly status: number
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code?: string | undefined
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/** A file to upload. */
export interface Upload extends UploadOptions {
  /**
   * Bytes, a `Blob` or `File`, which is read into memory, or a stream. A function that returns a stream with the same bytes on each call
   * allows retries. A stream itself can be read only once, so it is not sent again after its first bytes were read.
   */
  readonly content: Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Blob | (() => Pieces)
  /** The name of the file; not empty. */
  readonly fileName: string
  /** The length of a stream in bytes, if it is known. Some servers reject uploads of unknown length. */
  readonly size?: number | undefined
}

/** Options of an upload. */
export interface UploadOptions {
  /** Receives the number of content bytes sent so far. Each attempt starts at zero. */
  readonly onProgress?: ((bytesSent: number) => void) | undefined
  /** The media type (default: derived from the extension of the file name, or `application/octet-stream`). */
  readonly contentType?: string | undefined
}

/** The user is blocked, private or suspended. Nothing changed, unless `mayHaveHappened`. Skip the user. */
export declare class UserUnavailable extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "UserUnavailable"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 403
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "USER_UNAVAILABLE"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/**
 * The service found a parameter or a field invalid; `details` names it. Nothing changed, unless `mayHaveHappened`. Correct the input.
 */
export declare class ValidationError extends PlazaError {
  private constructor()
  /** The name of the class. */
  readonly _tag: "ValidationError"
  /** The status of the response that the call failed with, if it did. */
  readonly status: 400
  /** The code of the service's error, or of the system's for a file, if there is one. */
  readonly code: "VALIDATION_ERROR"
  /**
   * How long to wait before the next call, if that is known.
   * The wait of `Retry-After`, if the response had one. In milliseconds.
   */
  readonly retryAfter?: number | undefined
  /** Every other field of the envelope. */
  readonly details: Readonly<Record<string, unknown>>
  /** The `X-Request-Id` of the response, if it had one. */
  readonly requestId?: string | undefined
  /** The number of attempts of the call, if the client counts them. */
  readonly attempts?: number | undefined
}

/**
 * Creates clients on the `fetch` of the runtime.
 *
 * @example
 * import { createPlaza } from "@plaza/sdk"
 *
 * const plaza = createPlaza({ baseUrl: "https://host/open/v1", apiKey: "a key" })
 * const product = await plaza.store.setStock("MUG-BLUE-350", 12)
 * // => { id: "MUG-BLUE-350", stock: 12 }
 */
export declare const createPlaza: CreatePlaza

/**
 * Whether a caught value is an error of this package. Everything else is a fault of the program, or of a callback or source that it passed.
 *
 * @example
 * import { createPlaza, isPlazaError } from "@plaza/sdk"
 *
 * const plaza = createPlaza({ baseUrl: "https://host/open/v1", apiKey: "a key" })
 * const outcome = await plaza.profiles.find("nobody").then(
 *   ({ id }) => id,
 *   (error: unknown) => isPlazaError(error) ? error._tag : "a fault of the program"
 * )
 * // => "NotFound"
 */
export declare const isPlazaError: (value: unknown) => value is Failure
