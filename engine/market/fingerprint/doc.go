// Package fingerprint hashes phone numbers and email addresses under a key, and holds
// large sets of such hashes in immutable tables.
package fingerprint
