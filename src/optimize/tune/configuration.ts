// A choice of all values.
export type Value = string | number | boolean;
/** A value for each parameter. */
export type Configuration = Readonly<Record<string, Value>>;
