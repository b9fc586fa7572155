// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// TestFlag is: Whether a request is a test.
// Others than those below may come.
type TestFlag string

const (
	TestFlag1     TestFlag = "1"
	TestFlagTrue  TestFlag = "true"
	TestFlag0     TestFlag = "0"
	TestFlagFalse TestFlag = "false"
)
