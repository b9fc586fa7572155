// Package dashboard holds the files of the operators' page.
//
// The page is a TypeScript program in src. Its build in dist (make dashboard) is embedded
// in the binary. The page loads all data through the admin API, so the files contain no
// secrets. Its Content-Security-Policy allows scripts, styles and images from this address
// only, and no inline scripts.
package dashboard
