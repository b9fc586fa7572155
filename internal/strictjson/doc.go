// Package strictjson reads the JSON that strangers send. It takes what RFC 8259
// allows and nothing beyond it, and refuses what the RFC leaves open where two
// readers could understand two things:
//
//   - no member of an object may be repeated, at any depth; names are compared
//     after unescaping
//   - UTF-8 is valid throughout, and no escape stands for half a character
//   - nesting is at most MaxDepth, a number at most MaxNumber bytes long
//   - nothing but white space follows the value, and no byte-order mark precedes it
//
// Object is for the hot path: it parses one object without allocating and gives
// its members as they stand in the body. Unmarshal is for everything else.
package strictjson
