// Package report tells what a load test has found: as a table for a terminal, as JSON
// for a program, and as one HTML file for whoever wants to see it. The file carries
// its curves as drawings of its own and loads nothing from anywhere.
package report
