// Package ratelimit limits requests of unknown clients by a key, such as the network they come
// from. Its memory is of a fixed size, because clients choose their addresses.
// AuthFailureLimiter limits wrong credentials.
//
// The limits of authenticated suppliers and buyers are in package public.
package ratelimit
