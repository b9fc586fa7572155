// Package token issues and reads the access tokens of suppliers and buyers, and hashes
// client secrets and tokens.
//
// A token is its own record: issuing one writes no log entry. It survives a restart,
// because its key is derived from the exchange's key. A token contains the hash of the
// client secret, and the caller of OpenUnexpiredToken checks that this secret is still valid. Revoking a
// secret, or a client with all its secrets, therefore ends its tokens at once.
//
//	token   "ppt_" | base64url of 75 bytes, without padding: 104 characters
//	bytes   nonce 12 | sealed 47 | tag 16
//	sealed  version u8 | owner's kind u8 | scopes u8 | owner u32 | expiry, Unix nanoseconds i64 | secret's hash 32
//
// The seal is AES-256-GCM with random nonces. With a thousand tokens a second
// for ten years, the chance that any two of them share a nonce is one in a
// million. 75 is a multiple of three, so every bit of every character counts, and
// there is one way to write a token.
//
// Rejected: a table of tokens, because every restart and snapshot would have to keep it for
// tokens that are valid for an hour.
//
// Rejected: JWT. It is three times as long, shows its content to the holder, and lets the
// holder choose the algorithm of the check.
package token
