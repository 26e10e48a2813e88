/** The pattern of texts that contain `text`, in which nothing is a wildcard. For `like`. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** A comparison with the pattern in a placeholder. */
export function like(placeholder: string): string {
  return `LIKE ${placeholder} ESCAPE '\\'`;
}
