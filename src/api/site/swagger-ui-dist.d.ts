/** Files that are served as they are: an import gives their path. */
declare module 'swagger-ui-dist/*' {
  const path: string;
  export default path;
}
