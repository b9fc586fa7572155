// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

// Package model is what goes over the wire: requests, answers and events, as
// api/openapi.yaml has them.
package model
