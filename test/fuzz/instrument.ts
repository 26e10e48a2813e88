/**
 * Inserts counters into a bundle, so that a fuzzer sees which branches were taken: both outcomes of every `if` and `while`
 * condition, and every block. It splits JavaScript into tokens without parsing it, which suffices for a bundler's output.
 *
 *     if (a) b();      ─►   if (__hit(0, (a))) b();
 *     () => { … }      ─►   () => {__hit(1, 0); … }
 */
export function instrument(code: string): { code: string; points: number } {
  let out = '';
  let points = 0;
  /** For each open parenthesis: the text that closes it, and the word before it. */
  const parens: { word: string; close: string }[] = [];
  let previous = '';
  let wordBeforeParen = '';
  for (const token of tokensOf(code)) {
    let text = token;
    if (token === '(') {
      const isCondition = previous === 'if' || previous === 'while';
      if (isCondition) text = `(__hit(${points++}, (`;
      parens.push({ word: previous, close: isCondition ? ')))' : ')' });
    } else if (token === ')') {
      const open = parens.pop();
      text = open?.close ?? ')';
      wordBeforeParen = open?.word ?? '';
    } else if (token === '{' && startsBlock(previous, wordBeforeParen)) {
      text = `{__hit(${points++}, 0);`;
    }
    out += text;
    if (!/^\s|^\/[/*]/.test(token)) previous = token;
  }
  return { code: out, points };
}

function startsBlock(previous: string, wordBeforeParen: string): boolean {
  if (previous === ')') return wordBeforeParen !== 'switch';
  return ['=>', 'else', 'try', 'finally', 'do'].includes(previous);
}

/** A slash after one of these starts a regular expression; elsewhere it is a division. */
const BEFORE_REGEXP =
  /^([=(,:;!&|?{}[+\-*%<>~^]|=>|return|typeof|case|in|of|do|else|throw|void|delete|await|yield)$/;
const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|=>|[\w$#\u0080-\uffff]+|[\s\S]/y;
const REGEXP = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

function* tokensOf(code: string): Generator<string> {
  let previous = ';';
  for (let at = 0; at < code.length; ) {
    let token: string;
    if (code[at] === '`') token = templateAt(code, at);
    else if (code[at] === '/' && !/^\/[/*]/.test(code.slice(at, at + 2)) && BEFORE_REGEXP.test(previous)) {
      token = matchAt(REGEXP, code, at) ?? '/';
    } else token = matchAt(TOKEN, code, at)!;
    yield token;
    at += token.length;
    if (!/^\s|^\/[/*]/.test(token)) previous = token;
  }
}

/** A whole template literal. Expressions in it get no counters. */
function templateAt(code: string, from: number): string {
  let depth = 0;
  for (let at = from + 1; at < code.length; at++) {
    if (code[at] === '\\') at++;
    else if (code[at] === '$' && code[at + 1] === '{') {
      depth++;
      at++;
    } else if (depth > 0 && code[at] === '{') depth++;
    else if (depth > 0 && code[at] === '}') depth--;
    else if (code[at] === '`') {
      if (depth === 0) return code.slice(from, at + 1);
      at += templateAt(code, at).length - 1;
    }
  }
  throw new Error('unterminated template literal');
}

function matchAt(pattern: RegExp, code: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(code)?.[0];
}
