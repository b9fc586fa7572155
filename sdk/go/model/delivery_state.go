// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// DeliveryState is: The state of the delivery to the buyer's endpoint. `none`: the buyer has no endpoint, and the lead is only recorded. `pending`: in progress, or between two attempts. `delivered`: acknowledged. `unknown`: all attempts failed without a clear answer, and an operator decides. `failed`: rejected. `confirmed`: an operator found that the buyer has the lead. `released`: an operator found that it does not.
// Others than those below may come.
type DeliveryState string

const (
	DeliveryStateNone      DeliveryState = "none"
	DeliveryStatePending   DeliveryState = "pending"
	DeliveryStateDelivered DeliveryState = "delivered"
	DeliveryStateUnknown   DeliveryState = "unknown"
	DeliveryStateFailed    DeliveryState = "failed"
	DeliveryStateConfirmed DeliveryState = "confirmed"
	DeliveryStateReleased  DeliveryState = "released"
)
