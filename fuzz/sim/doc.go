// Package sim plays years of an exchange in minutes, and holds each step against a
// model.
package sim
