// Package team serves the part of the admin API with which operators build their team: invitations to
// open an account, and the second factor of an account (TOTP).
//
// The package knows no session and no password. It uses those of the admin server through Server.
package team
