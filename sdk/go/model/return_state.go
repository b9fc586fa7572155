// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// ReturnState is: Where the return of a lead stands. `waiting`: for the operator. `approved`: the lead went back. `refused`: by the operator; it cannot be asked for again.
// Others than those below may come.
type ReturnState string

const (
	ReturnStateWaiting  ReturnState = "waiting"
	ReturnStateApproved ReturnState = "approved"
	ReturnStateRefused  ReturnState = "refused"
)
