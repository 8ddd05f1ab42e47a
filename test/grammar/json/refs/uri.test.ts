import { expect, test } from "vitest"
import {
  decodeFragment,
  decodeToken,
  encodeToken,
  resolveUri,
  splitFragment,
} from "../../../../grammar/json/refs/uri.ts"

const base = "http://a/b/c/d;p?q"

// RFC 3986, 5.4.1 and 5.4.2 (strict).
test.each([
  ["g:h", "g:h"],
  ["g", "http://a/b/c/g"],
  ["./g", "http://a/b/c/g"],
  ["g/", "http://a/b/c/g/"],
  ["/g", "http://a/g"],
  ["//g", "http://g"],
  ["?y", "http://a/b/c/d;p?y"],
  ["g?y", "http://a/b/c/g?y"],
  ["#s", "http://a/b/c/d;p?q#s"],
  ["g#s", "http://a/b/c/g#s"],
  ["g?y#s", "http://a/b/c/g?y#s"],
  [";x", "http://a/b/c/;x"],
  ["g;x", "http://a/b/c/g;x"],
  ["g;x?y#s", "http://a/b/c/g;x?y#s"],
  ["", "http://a/b/c/d;p?q"],
  [".", "http://a/b/c/"],
  ["./", "http://a/b/c/"],
  ["..", "http://a/b/"],
  ["../", "http://a/b/"],
  ["../g", "http://a/b/g"],
  ["../..", "http://a/"],
  ["../../", "http://a/"],
  ["../../g", "http://a/g"],
  ["../../../g", "http://a/g"],
  ["../../../../g", "http://a/g"],
  ["/./g", "http://a/g"],
  ["/../g", "http://a/g"],
  ["g.", "http://a/b/c/g."],
  [".g", "http://a/b/c/.g"],
  ["g..", "http://a/b/c/g.."],
  ["..g", "http://a/b/c/..g"],
  ["./../g", "http://a/b/g"],
  ["./g/.", "http://a/b/c/g/"],
  ["g/./h", "http://a/b/c/g/h"],
  ["g/../h", "http://a/b/c/h"],
  ["g;x=1/./y", "http://a/b/c/g;x=1/y"],
  ["g;x=1/../y", "http://a/b/c/y"],
  ["g?y/./x", "http://a/b/c/g?y/./x"],
  ["g?y/../x", "http://a/b/c/g?y/../x"],
  ["g#s/./x", "http://a/b/c/g#s/./x"],
  ["g#s/../x", "http://a/b/c/g#s/../x"],
  ["http:g", "http:g"],
])("%j from the base of RFC 3986 is %j", (reference, expected) => {
  expect(resolveUri(base, reference)).toBe(expected)
})

test.each([
  [
    "urn:uuid:deadbeef-1234-0000-0000-4321feebdaed",
    "#/a",
    "urn:uuid:deadbeef-1234-0000-0000-4321feebdaed#/a",
  ],
  ["urn:x:y", "urn:x:z#a", "urn:x:z#a"],
  ["file:///folder/file.json", "other.json", "file:///folder/other.json"],
  ["http://example.com", "a.json", "http://example.com/a.json"],
  ["", "a.json", "a.json"],
  ["", "../a.json", "../a.json"],
  ["", "#/x", "#/x"],
  ["schemas/a.json", "b.json", "schemas/b.json"],
])("from %j: %j is %j", (from, reference, expected) => {
  expect(resolveUri(from, reference)).toBe(expected)
})

test("fragments and pointer tokens decode once each, in their order", () => {
  expect(splitFragment("a#b#c")).toEqual(["a", "b#c"])
  expect(splitFragment("a")).toEqual(["a", ""])
  expect(decodeFragment("/a%25b%22")).toBe('/a%b"')
  expect(decodeFragment("%zz")).toBe("%zz")
  expect(decodeToken("~01~1~0")).toBe("~1/~")
  expect(encodeToken("a/b~c")).toBe("a~1b~0c")
  expect(decodeToken(encodeToken("~1~0/"))).toBe("~1~0/")
})
