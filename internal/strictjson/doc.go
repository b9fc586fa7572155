// Package strictjson parses JSON from untrusted sources. It accepts only valid RFC 8259 texts,
// and rejects texts that two parsers could understand differently:
//
//   - Each member name is unique in its object, at every depth. Names are compared after
//     unescaping.
//   - The text is valid UTF-8, and no escape is half of a surrogate pair.
//   - Nesting is at most MaxDepth, and a number has at most MaxNumber bytes.
//   - Only white space follows the value, and no byte-order mark precedes it.
//
// Object is for the hot path: it parses one object without allocations and returns its members
// as they are in the body. Unmarshal is for everything else.
package strictjson
