// Package report formats the result of a load test: as a table for a terminal, as JSON,
// and as one HTML file. The HTML file contains its charts as SVG and loads no resources.
package report
