import { CODE_PATTERN } from '../symbol.ts';

/** A formula over the prices of symbols: a real grammar with fixed limits, never `eval`. */
export type Expression =
  | { kind: 'number'; text: string }
  | { kind: 'symbol'; code: string }
  | { kind: 'negate'; operand: Expression }
  | { kind: 'binary'; operator: Operator; left: Expression; right: Expression };

export type Operator = '+' | '-' | '*' | '/';

/** Why a text is not a formula, and where. */
export interface FormulaError {
  problem: string;
  /** Index of the character. */
  at: number;
}

export interface Formula {
  expression: Expression;
  /** The symbols in it, each once, in order. */
  codes: readonly string[];
  /** The same formula in one spelling: without blanks, codes in upper case. */
  text: string;
}

/** Longest text, deepest nesting and longest number. They bound the time to parse and to evaluate. */
export const FORMULA_LENGTH_MAX = 500;
const DEPTH_MAX = 20;
const NUMBER_LENGTH_MAX = 15;
const CODES_MAX = 20;

/** Whether a text is meant as a formula: only formulas have braces. */
export function isFormula(text: string): boolean {
  return text.includes('{');
}

/**
 *     sum     = product { ("+" | "-") product }
 *     product = factor { ("*" | "/") factor }
 *     factor  = "-" factor | "(" sum ")" | "{" code "}" | number
 *
 * A blank between two operands means "+": that is how a plus in a URL arrives.
 */
export function parseFormula(text: string): Formula | FormulaError {
  if (text.length > FORMULA_LENGTH_MAX) {
    return {
      problem: `it has ${text.length} characters, and ${FORMULA_LENGTH_MAX} are allowed`,
      at: FORMULA_LENGTH_MAX,
    };
  }
  const parser = new Parser(text);
  try {
    const expression = parser.whole();
    return { expression, codes: [...parser.codes], text: print(expression, 0) };
  } catch (error) {
    if (error instanceof Mistake) return { problem: error.message, at: error.at };
    throw error;
  }
}

class Mistake extends Error {
  readonly at: number;

  constructor(problem: string, at: number) {
    super(problem);
    this.at = at;
  }
}

class Parser {
  readonly #text: string;
  #at = 0;
  readonly codes = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Expression {
    const expression = this.#sum(0);
    if (this.#at < this.#text.length) throw this.#mistake(`"${this.#text[this.#at]}" is not expected`);
    if (this.codes.size === 0) throw this.#mistake('it names no symbol');
    return expression;
  }

  #sum(depth: number): Expression {
    let left = this.#product(depth);
    for (;;) {
      const hasBlank = this.#text[this.#at] === ' ';
      this.#skipBlanks();
      const next = this.#text[this.#at];
      if (next === '+' || next === '-') {
        this.#at++;
        left = { kind: 'binary', operator: next, left, right: this.#product(depth) };
      } else if (hasBlank && next !== undefined && /[{(\d.]/.test(next)) {
        left = { kind: 'binary', operator: '+', left, right: this.#product(depth) };
      } else return left;
    }
  }

  #product(depth: number): Expression {
    let left = this.#factor(depth);
    for (;;) {
      const start = this.#at;
      this.#skipBlanks();
      const next = this.#text[this.#at];
      if (next !== '*' && next !== '/') {
        this.#at = start;
        return left;
      }
      this.#at++;
      left = { kind: 'binary', operator: next, left, right: this.#factor(depth) };
    }
  }

  #factor(depth: number): Expression {
    if (depth > DEPTH_MAX) throw this.#mistake(`it is nested more than ${DEPTH_MAX} deep`);
    this.#skipBlanks();
    const next = this.#text[this.#at];
    if (next === '-') {
      this.#at++;
      return { kind: 'negate', operand: this.#factor(depth + 1) };
    }
    if (next === '(') return this.#parenthesized(depth + 1);
    if (next === '{') return this.#symbol();
    return this.#number();
  }

  #parenthesized(depth: number): Expression {
    this.#at++;
    const inner = this.#sum(depth);
    this.#skipBlanks();
    if (this.#text[this.#at] !== ')') throw this.#mistake('a closing parenthesis is missing');
    this.#at++;
    return inner;
  }

  #symbol(): Expression {
    const end = this.#text.indexOf('}', this.#at);
    if (end < 0) throw this.#mistake('a closing brace is missing');
    const code = this.#text
      .slice(this.#at + 1, end)
      .trim()
      .toUpperCase();
    if (!CODE_PATTERN.test(code)) throw this.#mistake(`"${code.slice(0, 40)}" is not a code`);
    this.#at = end + 1;
    this.codes.add(code);
    if (this.codes.size > CODES_MAX) throw this.#mistake(`it has more than ${CODES_MAX} symbols`);
    return { kind: 'symbol', code };
  }

  #number(): Expression {
    NUMBER.lastIndex = this.#at;
    const [text] = NUMBER.exec(this.#text) ?? [];
    if (text === undefined) throw this.#mistake('a symbol in braces, a number or "(" is expected');
    if (text.length > NUMBER_LENGTH_MAX)
      throw this.#mistake(`a number has more than ${NUMBER_LENGTH_MAX} characters`);
    this.#at += text.length;
    return { kind: 'number', text };
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }

  #mistake(problem: string): Mistake {
    return new Mistake(problem, this.#at);
  }
}

const NUMBER = /\d+(?:\.\d+)?|\.\d+/y;

const PRECEDENCE: Readonly<Record<Operator, number>> = { '+': 1, '-': 1, '*': 2, '/': 2 };

/** Prints an expression with as few parentheses as needed. */
function print(expression: Expression, outer: number): string {
  switch (expression.kind) {
    case 'number':
      return expression.text;
    case 'symbol':
      return `{${expression.code}}`;
    case 'negate':
      return `-${print(expression.operand, 3)}`; // a factor may begin with a minus: no text is longer than what was read
    case 'binary': {
      const { operator, left, right } = expression;
      const own = PRECEDENCE[operator];
      return wrap(`${print(left, own)}${operator}${print(right, own + 1)}`, own < outer);
    }
  }
}

function wrap(text: string, needed: boolean): string {
  return needed ? `(${text})` : text;
}
