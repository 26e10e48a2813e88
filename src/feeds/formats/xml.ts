import { XMLParser, XMLValidator } from 'fast-xml-parser';

/** An element: its attributes are under `@name`, its text under `#text`, its children under their names, always as lists. */
export interface Element {
  [name: string]: Element[] | string | undefined;
}

/** Parsing takes 0.7 s for a million characters. The largest document of a provider, ECB's full history, has 9 million. */
const XML_CHARS_MAX = 16_000_000;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  removeNSPrefix: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  alwaysCreateTextNode: true,
  isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  // Only the five entities of XML itself and numbers are left, since a document type is refused: the library's
  // limit of 1,000 is against entities that grow, and a sheet may well have more than 1,000 ampersands.
  processEntities: { enabled: true, maxTotalExpansions: 10_000_000, maxExpandedLength: 64 * 1024 * 1024 },
});

/**
 * A whole and well-formed document. One that declares a document type is refused: no provider needs it, and it is
 * how a small body grows to fill the memory.
 */
export function parseXml(text: string): Element {
  if (text.length > XML_CHARS_MAX) throw new Error(`the XML has more than ${XML_CHARS_MAX} characters`);
  if (/<!(DOCTYPE|ENTITY)/i.test(text))
    throw new Error('the XML declares a document type, which is not taken');
  let root: unknown;
  try {
    if (XMLValidator.validate(text) !== true) throw new Error();
    root = parser.parse(text);
  } catch {
    throw new Error('the XML is not whole or not well formed; it may have been cut off');
  }
  return (root ?? {}) as Element;
}

export function childrenOf(element: Element | undefined, name: string): Element[] {
  const children = element && Object.hasOwn(element, name) ? element[name] : undefined;
  return Array.isArray(children)
    ? children.filter((child) => typeof child === 'object' && child !== null)
    : [];
}

export function attributeOf(element: Element, name: string): string | undefined {
  const value = Object.hasOwn(element, `@${name}`) ? element[`@${name}`] : undefined;
  return typeof value === 'string' ? value : undefined;
}

export function textIn(element: Element): string {
  const text = element['#text'];
  return typeof text === 'string' ? text : '';
}
