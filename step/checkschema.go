package step

// CheckSchema returns what is wrong with a JSON Schema, by the rules of steps. The text is JSON or YAML by the file's name, or
// without a name the JSON of an inline schema.
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
