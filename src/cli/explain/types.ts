// What the registry says of an error code.

/** What causes the error, and what to do next: a sentence or two each. */
export type ErrorPage = readonly [cause: string, next: string];

export type ErrorPages = Readonly<Record<string, ErrorPage>>;
