package assistantmd

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// isoForms holds AssistantMD's date formats that order=date recognizes in names.
var isoForms = []string{"YYYY-MM-DD", "YYYY_MM_DD", "YYYY.MM.DD", "YYYYMMDD"}

// inputParams fixes the parameters of an input.
func (r lineReview) inputParams(l oldLine) {
	r.order(l)
	r.scope(l)
	if it, ok := l.item("output"); ok && strings.EqualFold(it.value, "context") {
		r.out.attach(l.at(it.valueAt.start), l.column(it.valueAt.start), directives.CodeParamValue, "delete output=context: there is no chat context here", l.without(it))
	}
	if r.ours && l.on("pending") {
		r.pending(l)
	}
}

// order fixes the names of orders, and how dates were found in names.
func (r lineReview) order(l oldLine) {
	order, _ := l.item("order")
	if strings.EqualFold(order.value, "alphanum") {
		r.out.attach(l.at(order.valueAt.start), l.column(order.valueAt.start), directives.CodeParamValue, "write order=name", l.replace(order.valueAt.start, order.valueAt.end, directives.OrderName))
	}
	format, dated := l.item("dt_format")
	byDate := strings.EqualFold(order.value, "filename_dt")
	suggestion, edits := "order=date finds only dates such as 2026-03-01, 2026_03_01 and 20260301 in names", []diag.Edit(nil)
	if !byDate || dated && slices.Contains(isoForms, strings.ToUpper(format.value)) {
		suggestion = "delete it: order=date finds dates such as 2026-03-01, 2026_03_01 and 20260301 in names"
		edits = []diag.Edit{l.replace(l.base.end, len(l.text), l.withoutForms())}
	}
	for _, it := range l.items {
		if it.key == "dt_pattern" || it.key == "dt_format" {
			r.out.attach(l.at(it.start), l.column(it.start), directives.CodeUnknownParam, suggestion, edits...)
		}
	}
	if byDate {
		r.out.attach(l.at(order.valueAt.start), l.column(order.valueAt.start), directives.CodeParamValue, suggestion)
	}
}

// withoutForms returns the parameter block with order=date instead of the forms of dates.
func (l oldLine) withoutForms() string {
	var kept []string
	for _, it := range l.items {
		switch {
		case it.key == "dt_pattern" || it.key == "dt_format":
		case it.key == "order" && strings.EqualFold(it.value, "filename_dt"):
			kept = append(kept, "order="+directives.OrderDate)
		default:
			kept = append(kept, it.text)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return " (" + strings.Join(kept, ", ") + ")"
}

// scope fixes scope=session: a workflow step never had a chat session, and used the run's store instead.
func (r lineReview) scope(l oldLine) {
	if it, ok := l.item("scope"); ok && strings.EqualFold(it.value, "session") {
		r.out.attach(l.at(it.valueAt.start), l.column(it.valueAt.start), directives.CodeParamValue,
			"write scope=run, which is what session meant in a workflow, or scope=workflow to keep it between runs", l.replace(it.valueAt.start, it.valueAt.end, "run"))
	}
}

// pending adds AssistantMD's defaults for a selection of pending files.
func (r lineReview) pending(l oldLine) {
	var add []string
	if _, ok := l.item("limit"); !ok {
		add = append(add, "limit=10")
	}
	if _, ok := l.item("order"); !ok {
		add = append(add, "order=ctime")
	}
	if len(add) > 0 {
		r.out.warn(l.at(l.block.start), "add "+strings.Join(add, ", "), "AssistantMD selected 10 pending files by default, oldest first; here the default is all of them, by name", l.with(add...))
	}
}
