import { SaxesParser } from 'saxes';

/** An element of a small document. Names are without their namespace prefix. */
export interface Element {
  name: string;
  attributes: Attributes;
  children: Element[];
  text: string;
}

export type Attributes = Readonly<Record<string, string>>;

/** Receives events in document order. Names are without their namespace prefix. */
export interface XmlHandler {
  open?(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** The deepest document of a provider, a worksheet with rich text, has 8 levels. */
const DEPTH_MAX = 32;
/** The root of a worksheet, the element with the most, declares about ten namespaces. */
const ATTRIBUTES_MAX = 64;
/** ECB's full history, the largest document that is read as a tree, has 300,000 elements. */
const TREE_ELEMENTS_MAX = 500_000;
/** Of one text, tag or comment, which the parser keeps until its end. A cell of a worksheet has at most 32,767. */
const TOKEN_CHARS_MAX = 1_000_000;

/**
 * Reads a document in chunks, with bounded memory. Rejects document types: no provider needs one, and entities allow a small
 * body to expand without limit.
 */
export class XmlReader {
  readonly #parser = new SaxesParser({ position: false, xmlns: false as const });
  #depth = 0;
  #attributes = 0;
  /** Characters since the last chunk in which an element began or ended. */
  #pending = 0;

  constructor(handler: XmlHandler) {
    const parser = this.#parser;
    parser.on('doctype', () => {
      throw new Error('the XML declares a document type, which is not accepted');
    });
    parser.on('opentagstart', () => {
      this.#attributes = 0;
      if (++this.#depth > DEPTH_MAX) throw new Error(`the XML is nested more than ${DEPTH_MAX} levels deep`);
    });
    parser.on('attribute', () => {
      if (++this.#attributes > ATTRIBUTES_MAX)
        throw new Error(`an XML element has more than ${ATTRIBUTES_MAX} attributes`);
    });
    parser.on('opentag', (tag) => {
      this.#pending = 0;
      handler.open?.(localName(tag.name), localNames(tag.attributes));
    });
    parser.on('closetag', (tag) => {
      this.#pending = 0;
      this.#depth--;
      handler.close?.(localName(tag.name));
    });
    if (handler.text) {
      const onText = handler.text.bind(handler);
      parser.on('text', onText);
      parser.on('cdata', onText);
    }
    parser.on('error', () => {
      throw new Error('the XML is incomplete or not well formed; it may be truncated');
    });
  }

  write(chunk: string): void {
    if (this.#pending > TOKEN_CHARS_MAX)
      throw new Error(`a text or tag of the XML has more than ${TOKEN_CHARS_MAX} characters`);
    this.#pending += chunk.length;
    this.#parser.write(chunk);
  }

  /** Throws if the document is incomplete. */
  end(): void {
    this.#parser.close();
  }
}

/** A complete, well-formed document as a tree. */
export function parseXml(text: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const path = [root];
  let elements = 0;
  const reader = new XmlReader({
    open(name, attributes) {
      if (++elements > TREE_ELEMENTS_MAX)
        throw new Error(`the XML has more than ${TREE_ELEMENTS_MAX} elements`);
      const element: Element = { name, attributes, children: [], text: '' };
      path.at(-1)!.children.push(element);
      path.push(element);
    },
    text(more) {
      path.at(-1)!.text += more;
    },
    close() {
      path.pop();
    },
  });
  reader.write(text);
  reader.end();
  return root;
}

export function childrenOf(element: Element | undefined, name: string): Element[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

export function attributeOf(element: Element, name: string): string | undefined {
  return element.attributes[name];
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

/** `r:id` as `id`, without namespace declarations. The object has no prototype. */
function localNames(attributes: Record<string, string>): Attributes {
  const plain: Record<string, string> = Object.create(null);
  for (const name in attributes) {
    if (!name.startsWith('xmlns')) plain[localName(name)] = attributes[name]!;
  }
  return plain;
}
