// How much else there is in an installation: other workspaces, and more datasets, tokens and rows of the record.
export async function grow() {}
