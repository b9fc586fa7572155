// Package dashboard has the operators' page, as files that are ready to be sent.
//
// The page is a program in TypeScript, in src; what a browser loads of it is built into
// dist (make dashboard) and lies in the binary. It asks the admin API for all it shows,
// so these files hold nothing that is anybody's secret. Its policy lets scripts, styles
// and pictures come from this address alone, and nothing be written into the page that
// runs.
package dashboard
