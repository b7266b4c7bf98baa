function show(result) {
  const data = result.isError ? undefined : dataOf(result);
  if (data) view.replaceChildren(tableOf(data));
  else say(firstText(result) || 'There is nothing to show; the answer is in the text.');
}

start('dragoman-table');
