/** All of what `tail.long.test.ts` takes a sample of: the project sets TOKENRAIL_TESTS. */
import "./tail.long.test.ts"
