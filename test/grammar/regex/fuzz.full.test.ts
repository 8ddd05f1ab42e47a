/** All of what `fuzz.test.ts` takes a sample of: the project sets TOKENRAIL_TESTS. */
import "./fuzz.test.ts"
