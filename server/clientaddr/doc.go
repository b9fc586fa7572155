// Package clientaddr finds the address of a client, also behind trusted proxies, and the
// network by which limits count it.
package clientaddr
