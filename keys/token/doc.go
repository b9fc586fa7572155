// Package token makes the access tokens that suppliers and buyers show, reads
// them back, and hashes the secrets that they are given for.
//
// A token is its own record. Nothing is written when one is given out, so it
// costs no entry of the log and survives a restart, for its key is derived from
// the exchange's own. It names the secret that it was given for; whoever reads it
// asks whether that one is still good. So revoking a secret, or a client with all
// of its secrets, ends its tokens in the same instant.
//
//	token   "ppt_" | base64url of 75 bytes, without padding: 104 characters
//	bytes   nonce 12 | sealed 47 | tag 16
//	sealed  version u8 | owner's kind u8 | scopes u8 | owner u32 | expiry, Unix nanoseconds i64 | secret's hash 32
//
// The seal is AES-256-GCM under random nonces. With a thousand tokens a second
// for ten years, the chance that any two of them share a nonce is one in a
// million. 75 is a multiple of three, so every bit of every character counts, and
// there is one way to write a token.
//
// Rejected: a table of tokens, which every restart and every snapshot would have
// to carry for an hour of validity. A JWT, which is three times as long, tells
// its holder what is in it, and lets him choose how it is to be checked.
package token
