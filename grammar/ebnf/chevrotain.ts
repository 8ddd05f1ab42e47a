/**
 * The parts of chevrotain with which the notations of grammars are read; nothing else imports the package.
 *
 * It is hundreds of small files, which take 0.3 s to load. So the build bundles this one file, with all that it needs, over
 * its compiled self (`vite.config.ts`; 12 ms), and a user of the package installs no chevrotain. Its licence, and those of
 * what it is made of, stand beside the bundle.
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
