// Assembly files that the bundler turns into text.
declare module '*.s' {
  const text: string;
  export default text;
}
