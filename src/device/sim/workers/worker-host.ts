// Threads of the host as the virtual GPU sees them; Node's are in device/node/, a page makes its own. Nothing here names a platform.

/** One thread. Messages are structured clones. */
export interface WorkerThread {
  post(message: unknown): void;
  /** Called for each message of the thread. */
  onMessage: (message: unknown) => void;
  /** Called when the thread has ended, or cannot go on. */
  onFailure: (error: Error) => void;
  /** Whether the thread keeps the process alive. */
  hold(isHeld: boolean): void;
  end(): void;
}

export interface WorkerHost {
  /** Threads that run at the same time. */
  readonly cores: number;
  /** About what starting a thread takes, ms. */
  readonly startMs: number;
  /** Starts a thread that calls `serveWorker`. */
  start(): WorkerThread;
}

/** The thread's own side. */
export interface WorkerPort {
  post(message: unknown): void;
  onMessage(handler: (message: unknown) => void): void;
}
