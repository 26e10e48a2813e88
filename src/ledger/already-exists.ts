/** Something that may only be created exists. */
export class AlreadyExists extends Error {}

export interface DefinitionOptions {
  /** Refuses to replace an existing definition. */
  onlyNew?: boolean;
}
