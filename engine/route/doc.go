// Package route says which buyer. Its functions are pure: a lineup is compiled
// from a campaign once, when the catalog changes, and what they decide depends
// on their arguments alone.
package route
