/** All of what `corpus.test.ts` takes a sample of: the project sets TOKENRAIL_TESTS. */
import "./corpus.test.ts"
