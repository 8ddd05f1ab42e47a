/**
 * The parts of chevrotain that the readers of grammar notations use. No other file imports the
 * package.
 *
 * Chevrotain consists of hundreds of small files, which take 0.3 s to load. So the build bundles
 * this one file with its dependencies, over its compiled output (`vite.config.ts`; loads in 12 ms),
 * and a user of the package installs no chevrotain. The licences of chevrotain and of its
 * dependencies lie beside the bundle.
 */
export {
  createToken,
  EmbeddedActionsParser,
  EOF,
  type IParserErrorMessageProvider,
  type IRecognitionException,
  type IToken,
  Lexer,
  type TokenType,
} from "chevrotain"
