/** What is in a field, in capitals. The caret stays where it is; it would move to the end if Preact wrote them. */
export function typedCapitals(field: HTMLInputElement): string {
  const { value, selectionStart } = field;
  const capitals = value.toUpperCase();
  if (capitals !== value) {
    const caret = value.slice(0, selectionStart!).toUpperCase().length; // ß is SS
    field.value = capitals;
    field.setSelectionRange(caret, caret);
  }
  return capitals;
}
