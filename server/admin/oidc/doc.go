// Package oidc signs operators in at an OpenID Connect provider: the authorization code flow with
// PKCE, a state and a nonce.
//
// Provider talks to the provider and judges its answers; Handlers serves the browser. DESIGN.md has
// the attacks and the rules against them.
package oidc
