// Package dashboard holds the files of the operators' page.
//
// The page is a TypeScript program in src. Its build in dist (make dashboard) is embedded
// in the binary. The page loads all data through the admin API, so the files contain no
// secrets. Its Content-Security-Policy allows scripts and styles from this address only, and no
// inline ones. Images may also be data URLs.
package dashboard
