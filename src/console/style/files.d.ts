/** Style sheets that are loaded on demand: an import gives their URL. */
declare module '*.css' {
  const url: string;
  export default url;
}
