package step

// CheckSchema says what is wrong with a JSON Schema: the text of a file, JSON or YAML by its name, or without a name the
// JSON of one that stands in a note. Steps use schemas by the same rules.
func CheckSchema(name string, text []byte) error {
	if name != "" {
		var err error
		if text, err = schemaText(name, text); err != nil {
			return err
		}
	}
	_, err := compileSchema(text)
	return err
}
