package event

// RequestingOperator returns the name of the operator who caused the event. It is empty if no operator
// did, or if an earlier program wrote the event without the name.
func RequestingOperator(e Event) (operatorName string) {
	switch e := e.(type) {
	case *ConfigActivated:
		return e.By
	case *CredentialAddedOrRevoked:
		return e.By
	case *SecretStoredOrDeleted:
		return e.By
	case *PostSettled:
		return e.By
	case *BuyerFundsAdjusted:
		return e.By
	case *CampaignOrBuyerPausedOrResumed:
		return e.By
	case *SuppressionListContentLoaded:
		return e.By
	case *LeadStatusChangesDecided:
		return e.By
	case *WebhookAttemptedOrDecided:
		return e.By
	case *SupplierWebhooksTurnedOnOrOff:
		return e.By
	case *PersonalDataOfLeadsErased:
		return e.By
	case *UserAccountChanged:
		return e.By
	case *APITokenAddedOrRevoked:
		return e.By
	case *OperatorActionRecorded:
		return e.By
	case *AlertSettingsChanged:
		return e.By
	case *InvitationCreatedOrRevoked:
		return e.By
	case *UserSecondFactorChangedOrUsed:
		return e.By
	case *SavedReportChanged:
		return e.By
	case *ReportMailEnded:
		return e.By
	}
	return ""
}
