// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

// Package model contains the wire types of api/openapi.yaml: requests, answers and
// events.
package model
